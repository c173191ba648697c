"""What the document cannot say in a schema, or a generator cannot make."""

import datetime

import schemathesis
from hypothesis import strategies as st

# RFC 3339 has years, leap seconds and fractions that the server does not take, as the description of moments says.
moments = st.datetimes(
    min_value=datetime.datetime(1970, 1, 2), max_value=datetime.datetime(9998, 12, 31)
).map(lambda moment: moment.replace(microsecond=0).isoformat() + "Z")
schemathesis.openapi.format("date-time", moments)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path in raw_schema["paths"].values():
        for operation in path.values():
            # Only the server can make a cursor; test/functions/cursors.test.ts mangles and forges real ones.
            # since excludes hours, and due all others, which no schema can say; until has the same schema as since.
            left_out = ("cursor", "since", "due")
            operation["parameters"] = [one for one in operation["parameters"] if one["name"] not in left_out]
            for parameter in operation["parameters"]:
                # The coverage phase does not keep to the pattern of a header.
                if parameter["name"] in ("If-Match", "If-None-Match"):
                    parameter["schema"] = {"type": "string", "enum": ["*", '"abc"', '"a", W/"b"']}
            # States under any other content type are bytes, of which no generator knows what they are.
            body = operation.get("requestBody", {}).get("content", {})
            if "application/json" in body:
                body.pop("*/*", None)
    # Only the server can make a moment, and no schema can say that a summary says something.
    capsule = raw_schema["components"]["schemas"]["NewCapsule"]["properties"]
    del capsule["moment"]
    capsule["summary"] = {"type": "string", "pattern": "^[a-z]{1,20}$"}
    # The actions that there are depend on the deployment.
    raw_schema["components"]["schemas"]["RunRequest"]["properties"]["action"] = {"enum": ["visit", "stumble"]}

