module github.com/cleveragents/agents

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)
