"""Checks that each alert has an entry in Docs/RUNBOOK.md, each entry an alert, and that commands and links of the page lead somewhere."""

import pathlib
import re
import sys

import yaml

docs = pathlib.Path(__file__).parent / "../../Docs"
page = (docs / "RUNBOOK.md").read_text()
groups = yaml.safe_load((docs / "prometheus-alerts.yaml").read_text())["groups"]
alerts = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"]}
problems = []


def anchors(text):
    """The anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
names, entries = parts[1::2], parts[2::2]
for name in sorted(set(alerts) - set(names)):
    problems.append(f"the alert {name} has no entry")
for name in sorted(set(names) - set(alerts)):
    problems.append(f"the entry {name} has no alert")
for name in sorted({name for name in names if names.count(name) > 1}):
    problems.append(f"{name} has two entries")
for name, entry in zip(names, entries):
    if re.findall(r"^\*\*(\w+)\.\*\*", entry, re.MULTILINE) != ["Symptom", "Meaning", "Look", "Do"]:
        problems.append(f"the entry {name} does not have the parts Symptom, Meaning, Look, Do")
for name, annotations in alerts.items():
    if set(annotations) != {"summary", "description", "runbook_url"}:
        problems.append(f"the alert {name} has {', '.join(sorted(annotations))}")
    # DOCS is for operators to set.
    wanted = f"https://DOCS/RUNBOOK.md#{name.lower()}"
    if annotations.get("runbook_url") != wanted:
        problems.append(f"the alert {name} leads to {annotations.get('runbook_url')}, and not to {wanted}")

commands = set(re.findall(r"^## (gannet .*)$", (docs / "COMMANDS.md").read_text(), re.MULTILINE))
for words in re.findall(r"(?:`|\$ |-- )(gannet(?: [a-z]+)+)", page):
    if words not in commands:
        problems.append(f"there is no command {words}")
for file, anchor in re.findall(r"\]\(([\w.-]*\.md)?(?:#([\w-]+))?\)", page):
    if anchor and anchor not in anchors((docs / file).read_text() if file else page):
        problems.append(f"the link to {file}#{anchor} leads nowhere")

for problem in problems:
    print(f"RUNBOOK.md: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
