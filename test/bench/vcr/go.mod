module github.com/tapedeck/tapedeck/test/bench/vcr

go 1.26.0

require (
	github.com/tapedeck/tapedeck v0.0.0
	gopkg.in/dnaeon/go-vcr.v4 v4.0.8
)

require (
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/tapedeck/tapedeck => ../../..
