#!/bin/sh
# Measures the program beside its anchors and rewrites the tables of
# docs/benchmarks.md. Takes about five minutes; run it on a machine that does
# nothing else, and look at the minimum and the ratios before the rest.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
doc=docs/benchmarks.md
tmp=$(mktemp -d "${TMPDIR:-/tmp}/agents-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

go build -o "$tmp/measure" ./bench/testdata/measure
go build -o "$tmp/hello" ./bench/testdata/hello
go build -o "$tmp/agents" ./cmd/agents
text() { "$tmp/measure" -text -into "$doc" -table "$1"; }

{
	printf '%s, %s cores, %s, Linux %s.\n' "$(date -u +%Y-%m-%d)" "$(getconf _NPROCESSORS_ONLN)" "$(go env GOVERSION)" "$(uname -r)"
} | text machine

# What Go has compiled stays at hand when HOME is another.
GOCACHE=$(go env GOCACHE)
GOMODCACHE=$(go env GOMODCACHE)
export GOCACHE GOMODCACHE

# 100 plans that wait at their first gate.
HOME=$tmp/home
export HOME
mkdir -p "$HOME" "$tmp/project"
i=0
while [ "$i" -lt 100 ]; do
	"$tmp/agents" plan use builtin/command -p "$tmp/project" --arg command=true >/dev/null 2>&1
	i=$((i + 1))
done

"$tmp/measure" -n 50 -into "$doc" -table start \
	"cobra hello world=$tmp/hello version" \
	"agents version=$tmp/agents version" \
	"agents --help=$tmp/agents --help" \
	"agents plan list, 100 plans=$tmp/agents plan list"
"$tmp/measure" -n 5 -into "$doc" -table demo "agents demo=$tmp/agents demo"

{
	echo '```'
	go test ./bench -run '^$' -bench . -benchtime 3x 2>&1 | grep -E '^(Benchmark|cpu:)' | sed 's/  */ /g; s/\t/ /g'
	echo '```'
} | text engine
{
	echo '```'
	go test ./sandbox ./blob ./store/sqlite ./durable ./crash -run '^$' -bench . -benchtime 20x 2>&1 | grep -E '^(Benchmark|pkg:)' | sed 's/  */ /g; s/\t/ /g'
	echo '```'
} | text hands
echo "rewrote $doc"
