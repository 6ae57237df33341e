#!/bin/sh
# test.sh - check price.sh against what README.md promises.
set -u

failed=0
check() { # check AMOUNT WANT
	got=$(sh ./price.sh "$1")
	if [ "$got" = "$2" ]; then
		echo "ok    price of $1 is $2"
	else
		echo "FAIL  price of $1: got $got, want $2"
		failed=1
	fi
}

check 9999 9999
check 10000 9000
check 10005 9005
check 25000 22500
exit "$failed"
