"""`python -m benchmark.record`: the JSON Schema of result files."""

import json

from benchmark.record.schema import result_schema

print(json.dumps(result_schema(), indent=2))
