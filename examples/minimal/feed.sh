#!/bin/sh
# usage: feed.sh [ROUNDS]
#
# Sends this machine's load and free memory to a Belfry server, ROUNDS times with a second in between (60), as an agent
# would do it: one request for all objects, repeated with the same Idempotency-Key until the server has answered.
set -eu
url=${BELFRY_URL:-http://127.0.0.1:8080}
key=${BELFRY_KEY:?set BELFRY_KEY to a readwrite key}
host=$(uname -n)

post() { # path, idempotency key; the body comes on standard input
	body=$(cat)
	while :; do
		answer=$(printf '%s\n' "$body" | curl -sS -w '\n%{http_code}' -H "x-api-key: $key" \
			-H 'Content-Type: text/csv' -H "Idempotency-Key: $2" --data-binary @- "$url$1") || true
		case ${answer##*
} in
		200) return ;;
		429) ;; # too fast: later it is taken
		207 | 4??) echo "$answer" >&2 && exit 1 ;; # something is wrong with what we send: repeating it does not help
		esac
		echo "not taken, trying again" >&2
		sleep 5
	done
}

post /api/provisioning/custom "resource-$host" <<CSV
name
$host
CSV

round=0
while [ "$round" -lt "${1:-60}" ]; do
	round=$((round + 1))
	read -r load1 load5 load15 rest </proc/loadavg
	free=$(awk '/MemAvailable/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
	post /api/send "$host-$(date +%s)-$round" <<CSV
type,resname,view,class,object,i1,i2,i3
data,$host,$host,load,load,$load1,$load5,$load15
data,$host,$host,memory,memory,$free,,
CSV
	sleep 1
done
