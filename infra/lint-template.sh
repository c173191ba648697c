#!/bin/sh
# Synthesizes the stack, as it is by default and with every setting the other way, and has cfn-lint judge both templates.
# cfn-lint comes into a Python environment of the project's own, on first use. Any finding is a failure.
set -eu
cd "$(dirname "$0")/.."

wanted=1.58.0
venv=.rehearsal
if [ "$("$venv/bin/cfn-lint" --version 2>/dev/null)" != "cfn-lint $wanted" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "cfn-lint==$wanted"
fi

synth() {
  npx --no-install cdk synth --quiet "$@"
}
synth --output cdk.out/default
synth --output cdk.out/other --context retain=false --context strictAgents=true --context overlap=allow \
  --context auth=jwt --context jwtIssuer=https://issuer.example.com/ --context jwtAudience=dormouse \
  --context tenantClaim=tenant --context alarmEmail=ops@example.com \
  --context corsOrigins=https://app.example.com --context 'throttle={"rateLimit":5,"burstLimit":10}'

# W3005, a dependency that a GetAtt implies already: the CDK writes one for every function with a policy of its own.
"$venv/bin/cfn-lint" --ignore-checks W3005 -- cdk.out/default/*.template.json cdk.out/other/*.template.json
echo 'cfn-lint has nothing to say about the templates'
