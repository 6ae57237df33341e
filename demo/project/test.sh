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
		failed=$((failed + 1))
	fi
}

check 9999 9999
check 10000 9000
check 10005 9005
check 25000 22500
if [ "$failed" -gt 0 ]; then
	echo "$failed of 4 checks failed"
	exit 1
fi
echo "all 4 checks pass"
