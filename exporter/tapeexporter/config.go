package tapeexporter

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

const (
	defaultStorage  = "tape_store"
	defaultEndpoint = "127.0.0.1:4380"
	defaultTimeout  = 30 * time.Second
	// defaultQueue is in bytes of OTLP. Runs differ in size by orders of magnitude,
	// so that a number of requests would bound nothing. It need not hold much: what
	// waits does so in the processor's spool.
	defaultQueue = 32 << 20
	// defaultMaxRequests lets a team look at runs at the same time.
	defaultMaxRequests = 16
	// defaultCache holds dozens of tapes of ordinary failed runs.
	defaultCache = 64 << 20
	// maxHeader bounds the header of a request: room for a long token and a query of
	// many filters.
	maxHeader = 64 << 10
	// maxBody bounds the body of a request. No call has one.
	maxBody = 64 << 10
)

// Config of the exporter.
type Config struct {
	TimeoutConfig exporterhelper.TimeoutConfig                             `mapstructure:",squash"`
	QueueConfig   configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	RetryConfig   configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`

	// Storage is the tape_store extension that holds the store.
	Storage component.ID `mapstructure:"storage"`
	// HTTP serves the API. It can be disabled.
	HTTP configoptional.Optional[confighttp.ServerConfig] `mapstructure:"http"`
	// MaxConcurrentRequests is how many requests the API answers at a time. Each may
	// hold one run in memory.
	MaxConcurrentRequests int `mapstructure:"max_concurrent_requests"`
	// CacheBytes bounds the rebuilt tapes that the API keeps in memory for those who
	// ask again; 0 keeps none.
	CacheBytes int `mapstructure:"cache_bytes"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Unmarshal takes over what is configured. A queue on disk has what it took; it need
// not, and cannot, wait for the result.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if conf.IsSet("sending_queue::storage") && c.QueueConfig.HasValue() {
		c.QueueConfig.Get().WaitForResult = false
	}
	return conf.Unmarshal(c)
}

// minQueue is the least that a queue in bytes must take: less is a number of
// requests, written where the unit is bytes.
const minQueue = 1 << 20

// Validate refuses what would let no run through, or no request.
func (c *Config) Validate() error {
	if c.MaxConcurrentRequests <= 0 {
		return fmt.Errorf("max_concurrent_requests: %d is not a positive number", c.MaxConcurrentRequests)
	}
	if c.CacheBytes < 0 {
		return fmt.Errorf("cache_bytes: %d is negative; 0 keeps nothing", c.CacheBytes)
	}
	if !c.QueueConfig.HasValue() {
		return nil
	}
	queue := c.QueueConfig.Get()
	if queue.Sizer == exporterhelper.RequestSizerTypeBytes && queue.QueueSize < minQueue {
		return fmt.Errorf("sending_queue::queue_size: %d bytes are less than %d; to count requests, set sending_queue::sizer to requests",
			queue.QueueSize, minQueue)
	}
	return nil
}

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	// A store that is away comes back, and a failed run does not.
	retry.MaxElapsedTime = 0
	timeout := exporterhelper.NewDefaultTimeoutConfig()
	timeout.Timeout = defaultTimeout
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	// A tape of hundreds of megabytes over a slow line takes its time.
	server.WriteTimeout = 10 * time.Minute
	server.ReadHeaderTimeout = 10 * time.Second
	server.MaxRequestBodySize = maxBody
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeBytes
	queue.QueueSize = defaultQueue
	// Whoever sends waits for room. A refusal would make the processor decide the
	// run again, again and again while the store is behind.
	queue.BlockOnOverflow = true
	// A run leaves the processor's spool when it is stored, and not when it is in a
	// queue in memory that a kill would empty.
	queue.WaitForResult = true
	return &Config{
		TimeoutConfig: timeout,
		QueueConfig:   configoptional.Some(queue),
		RetryConfig:   retry,
		Storage:       component.MustNewID(defaultStorage),
		HTTP:          configoptional.Some(server),

		MaxConcurrentRequests: defaultMaxRequests,
		CacheBytes:            defaultCache,
	}
}
