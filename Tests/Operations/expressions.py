"""Checks that the dashboard, the alert rules and their tests ask for metrics that there are, and makes of the dashboard's expressions a file
of rules for promtool.

  expressions.py RULES METRICS…   RULES: the file to write; METRICS: what workers and a gateway served at /metrics
"""

import json
import pathlib
import re
import sys

docs = pathlib.Path(__file__).parent / "../../Docs"
target, *served = sys.argv[1:]
known = {"up", "ALERTS"}
for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", "".join(pathlib.Path(file).read_text() for file in served), re.MULTILINE):
    known |= {name + suffix for suffix in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}

problems = []


def check(place, text):
    for name in set(re.findall(r"\b(?:gannet|process|go)_[a-z0-9_]+\b", text)) - known:
        problems.append(f"{place} asks for {name}, which nobody serves")


dashboard = json.loads((docs / "grafana-dashboard.json").read_text())
panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
ids = [panel["id"] for panel in dashboard["panels"]]
if len(set(ids)) != len(ids):
    problems.append("two panels have one id")
variables = {variable["name"] for variable in dashboard["templating"]["list"]}
rules = []
for panel in panels:
    if not panel["fieldConfig"]["defaults"].get("unit"):
        problems.append(f"panel {panel['title']} has no unit")
    for query in panel["targets"]:
        expression = query["expr"]
        check(f"panel {panel['title']}", expression)
        for name in re.findall(r"\$\{?(\w+)", expression):
            if name not in variables | {"__rate_interval"}:
                problems.append(f"panel {panel['title']} uses ${name}, which is no variable")
        for queried in query["datasource"], panel["datasource"]:
            if queried != {"type": "prometheus", "uid": "${datasource}"}:
                problems.append(f"panel {panel['title']} has a data source of its own")
        expression = expression.replace("$__rate_interval", "5m").replace("$job", ".*").replace("$queue", ".*")
        rules.append({"record": f"dashboard:panel_{panel['id']}:{query['refId']}", "expr": expression})
for variable in dashboard["templating"]["list"]:
    check(f"variable {variable['name']}", str(variable["query"]))

# The words of the rules' sentences that look like metrics have to be some as well.
alerts = (docs / "prometheus-alerts.yaml").read_text()
# A name with an underscore at its end is the beginning of several.
check("prometheus-alerts.yaml", re.sub(r"\b(?:gannet_\w+|process)_ ", "", alerts))
tests = (pathlib.Path(__file__).parent / "alerts.test.yaml").read_text()
check("alerts.test.yaml", tests)
for alert in re.findall(r"- alert: (\w+)", alerts):
    if f'alertname="{alert}"' not in tests:
        problems.append(f"alert {alert} has no test in which it fires")

check("RUNBOOK.md", (docs / "RUNBOOK.md").read_text())

# KEDA scales the workers by these.
check("kubernetes.yaml", (docs / "kubernetes.yaml").read_text())

# JSON is YAML.
pathlib.Path(target).write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
for problem in problems:
    print(problem, file=sys.stderr)
sys.exit(1 if problems else 0)
