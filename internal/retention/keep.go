package retention

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Keep is how long something stays. The zero value says nothing.
type Keep time.Duration

// Forever is longer than any other Keep.
const Forever Keep = math.MaxInt64

const day = 24 * time.Hour

// UnmarshalText reads "forever", days ("30d"), weeks ("4w"), or a duration as Go
// writes it ("36h"). Only what is longer than nothing is one.
func (k *Keep) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "forever" {
		*k = Forever
		return nil
	}
	var d time.Duration
	var err error
	unit := map[byte]time.Duration{'d': day, 'w': 7 * day}[last(s)]
	if unit != 0 {
		var n int64
		n, err = strconv.ParseInt(s[:len(s)-1], 10, 32)
		if n > int64(math.MaxInt64/unit) {
			return fmt.Errorf("%q is too long: say forever", s)
		}
		d = time.Duration(n) * unit
	} else {
		d, err = time.ParseDuration(s)
	}
	if err != nil {
		return fmt.Errorf(`%q is neither "forever" nor a time such as "30d", "4w" or "36h"`, s)
	}
	if d <= 0 {
		return fmt.Errorf("%q: what is kept is kept for longer than nothing", s)
	}
	*k = Keep(d)
	return nil
}

func last(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// MarshalText writes what UnmarshalText reads.
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (k Keep) String() string {
	d := time.Duration(k)
	switch {
	case k == Forever:
		return "forever"
	case d > 0 && d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	default:
		return d.String()
	}
}

// minKeep is the shortest Keep of a policy. A number without a unit, which is read
// as nanoseconds, is none.
const minKeep = Keep(time.Hour)

func (k Keep) check() error {
	switch {
	case k == 0:
		return errors.New("keep must be given")
	case k < minKeep:
		return fmt.Errorf(`keep must be "forever" or a time of at least 1h, such as "30d": %v`, time.Duration(k))
	}
	return nil
}

// until is when something that was stored at a time may go; zero is never.
func (k Keep) until(stored time.Time) time.Time {
	if k == Forever {
		return time.Time{}
	}
	return stored.Add(time.Duration(k))
}
