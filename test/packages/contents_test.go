package packages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shipped are the files of both packages with their modes.
var shipped = map[string]string{
	"/usr/bin/tape":                                "-rwxr-xr-x",
	"/usr/bin/otelcol-tape":                        "-rwxr-xr-x",
	"/usr/lib/systemd/system/otelcol-tape.service": "-rw-r--r--",
	"/etc/tapedeck":                                "drwxr-xr-x",
	"/etc/tapedeck/config.yaml":                    "-rw-r--r--",
	"/etc/tapedeck/otelcol-tape.env":               "-rw-------",
	"/var/lib/tapedeck":                            "drwxr-x---",
	"/usr/share/doc/tapedeck/copyright":            "-rw-r--r--",
	"/usr/share/doc/tapedeck/README.md":            "-rw-r--r--",
	"/usr/share/doc/tapedeck/CHANGELOG.md":         "-rw-r--r--",
}

// modes reads a listing as ls, dpkg-deb and rpm print it, without the directories that
// other packages own too.
func modes(listing string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(listing) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		path := strings.TrimSuffix(strings.TrimPrefix(fields[len(fields)-1], "."), "/")
		if fields[0][0] != 'd' || strings.HasSuffix(path, "/tapedeck") && !strings.HasPrefix(path, "/usr") {
			found[path] = fields[0]
		}
	}
	return found
}

func TestDebContents(t *testing.T) {
	deb := built(t, "*.deb")
	assert.Equal(t, shipped, modes(output(t, "dpkg-deb", "--contents", deb)))
	assert.Equal(t, "/etc/tapedeck/config.yaml\n/etc/tapedeck/otelcol-tape.env\n", output(t, "dpkg-deb", "--info", deb, "conffiles"))
	for field, want := range map[string]string{"Package": "tapedeck", "Depends": "passwd", "Section": "net"} {
		assert.Equal(t, want+"\n", output(t, "dpkg-deb", "--field", deb, field), field)
	}
}

func TestRPMContents(t *testing.T) {
	rpm := built(t, "*.rpm")
	query := func(args ...string) string {
		return output(t, "rpm", append([]string{"--query", "--package", "--nosignature", rpm}, args...)...)
	}
	assert.Equal(t, shipped, modes(query("--list", "--verbose")))
	assert.Equal(t, "/etc/tapedeck/config.yaml\n/etc/tapedeck/otelcol-tape.env\n", query("--configfiles"))
	assert.Contains(t, query("--requires"), "shadow-utils")
	assert.Equal(t, "tapedeck Apache-2.0", query("--queryformat", "%{NAME} %{LICENSE}"))
	scripts := query("--scripts")
	for _, line := range []string{"useradd --system", "systemctl try-restart otelcol-tape.service", "systemctl disable --now otelcol-tape.service"} {
		assert.Contains(t, scripts, line)
	}
	// An edited file of configuration stays, and the new one comes beside it.
	flags := query("--queryformat", "[%{FILENAMES} %{FILEFLAGS}\n]")
	assert.Contains(t, flags, "/etc/tapedeck/config.yaml 17\n", "flags: 1 for config, 16 for noreplace")
}
