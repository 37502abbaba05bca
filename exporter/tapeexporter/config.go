package tapeexporter

import (
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

const (
	defaultStorage  = "tape_store"
	defaultEndpoint = "127.0.0.1:4380"
	defaultTimeout  = 30 * time.Second
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

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	timeout := exporterhelper.NewDefaultTimeoutConfig()
	timeout.Timeout = defaultTimeout
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	// A tape of hundreds of megabytes over a slow line takes its time.
	server.WriteTimeout = 10 * time.Minute
	return &Config{
		TimeoutConfig: timeout,
		QueueConfig:   configoptional.Some(exporterhelper.NewDefaultQueueConfig()),
		RetryConfig:   configretry.NewDefaultBackOffConfig(),
		Storage:       component.MustNewID(defaultStorage),
		HTTP:          configoptional.Some(server),
	}
}
