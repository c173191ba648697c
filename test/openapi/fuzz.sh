#!/bin/sh
# Fuzzes a local server with requests made from its OpenAPI document, right ones and wrong ones: no answer may be a 5xx,
# or one that the document does not describe; what is right is taken, what is wrong refused. Two minutes at the most.
# schemathesis comes into a Python environment of the project's own, on first use.
set -eu
cd "$(dirname "$0")/../.."

venv=.fuzz
wanted=$(sed -n 's/^schemathesis==//p' test/openapi/requirements.txt)
if ! "$venv/bin/schemathesis" --version 2>/dev/null | grep -qF "$wanted"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r test/openapi/requirements.txt
fi

log=$(mktemp)
node infra/local/start.js --port 0 --memory --quiet --agents test/openapi/agents.ts >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -f "$log"' EXIT INT TERM
url=
for _ in $(seq 100); do
  url=$(sed -n 's/^Dormouse is ready on //p' "$log")
  [ -n "$url" ] && break
  kill -0 $server 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.1
done

agent=$url/v1/agents/fuzzed
send() { curl -sf -o "$log.answer" -H 'content-type: application/json' "$@"; }
send -X PUT "$agent/instances/org/user-1" -d '{"mood":"calm"}'
send -X PUT "$agent/sessions/s" -d '{}'
send "$agent/sessions/s/messages" -d '[{"id":"m1","content":1,"sender":{"id":"u"}},{"id":"m2","content":2,"sender":{"id":"u"}}]'
send "$agent/runs" -d '{"action":"visit"}'
DORMOUSE_FUZZ_RUN=$(sed 's/.*"runId":"\([^"]*\)".*/\1/' "$log.answer")
rm -f "$log.answer"
export DORMOUSE_FUZZ_RUN
export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=test/openapi PYTHONDONTWRITEBYTECODE=1

"$venv/bin/schemathesis" --config-file test/openapi/schemathesis.toml run "$url/v1/openapi.json" \
  --seed "${DORMOUSE_FUZZ_SEED:-1}" \
  --max-time "${DORMOUSE_FUZZ_SECS:-90}" --warnings off --continue-on-failure
