#!/bin/sh
# price.sh AMOUNT - print what a customer pays for an order of AMOUNT cents.
set -eu

amount=$1
if [ "$amount" -gt 10000 ]; then
	amount=$((amount * 90 / 100))
fi
echo "$amount"
