#!/bin/sh
# A throw-away PostgreSQL server for the tests, on a unix socket (nothing listens
# on TCP) in a directory of its own. It installs nothing.
#
#   dir=$(mktemp -d)
#   AGENTS_TEST_POSTGRES=$(store/storetest/postgres.sh start "$dir") && export AGENTS_TEST_POSTGRES
#   ... go test ./store/postgres
#   store/storetest/postgres.sh stop "$dir" && rm -r "$dir"
#
# The server does not run as root: as root the script becomes the user postgres.
# Each test makes and drops a database of its own in it.
set -eu

usage="usage: postgres.sh start|stop DIR"
verb=${1:?$usage}
dir=${2:?$usage}

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$bin" ]; then
	pg_ctl=$(command -v pg_ctl) || { echo "postgres.sh: no PostgreSQL server here (Debian: apt-get install postgresql)" >&2; exit 1; }
	bin=$(dirname "$pg_ctl")
fi

as() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid postgres --regid postgres --init-groups -- "$@"
	else
		"$@"
	fi
}

case $verb in
start)
	data=$dir/pg
	mkdir -p "$data"
	chmod 755 "$dir"
	if [ "$(id -u)" = 0 ]; then chown postgres "$data"; fi
	cd "$data"
	as "$bin/initdb" --pgdata="$data/data" --username=agents --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$dir/initdb.log" 2>&1 ||
		{ cat "$dir/initdb.log" >&2; exit 1; }
	# The socket's directory makes the address unique, so the port need not be
	# free: nothing listens on TCP.
	as "$bin/pg_ctl" --pgdata="$data/data" --log="$data/log" --wait start \
		--options="-c listen_addresses= -c unix_socket_directories=$data -c port=5432" >"$dir/start.log" 2>&1 ||
		{ cat "$dir/start.log" "$data/log" >&2; exit 1; }
	echo "host=$data port=5432 user=agents dbname=postgres"
	;;
stop)
	cd /
	as "$bin/pg_ctl" --pgdata="$dir/pg/data" --mode=immediate --wait stop >/dev/null
	;;
*)
	echo "$usage" >&2
	exit 2
	;;
esac
