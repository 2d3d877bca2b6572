"""Checks Docs/kubernetes.yaml: Kubernetes' own kinds strictly by their schemas, the others by custom-resources.yaml, and that what names
something else in the file names something that is there."""

import pathlib
import sys

import jsonschema
import kubernetes_validate
import yaml

here = pathlib.Path(__file__).parent
problems = []
# Old and new: clusters are seldom of the latest version.
versions = ["1.29", "1.37"]
custom = yaml.safe_load((here / "custom-resources.yaml").read_text())
documents = list(yaml.safe_load_all((here / "../../Docs/kubernetes.yaml").read_text()))

for document in documents:
    name = f"{document['kind']} {document['metadata']['name']}"
    schema = custom.get(f"{document['apiVersion']}/{document['kind']}")
    try:
        if schema:
            if set(document) != {"apiVersion", "kind", "metadata", "spec"}:
                problems.append(f"{name}: {sorted(document)}")
            jsonschema.Draft202012Validator(schema).validate(document["spec"])
        else:
            for version in versions:
                kubernetes_validate.validate(document, version, strict=True)
    except Exception as error:  # Each validator has its own.
        problems.append(f"{name}: {error}")

found = {(document["kind"], document["metadata"]["name"]): document for document in documents}
deployment = found["Deployment", "gannet-worker"]["spec"]
pod = deployment["template"]["spec"]
worker = pod["containers"][0]
settings = found["ConfigMap", "gannet"]["data"]


def expect(condition, sentence):
    if not condition:
        problems.append(sentence)


drain = int(settings["GANNET_DRAIN_TIMEOUT"].removesuffix("s"))
expect(pod["terminationGracePeriodSeconds"] >= drain + 10, "the grace period is no ten seconds longer than the drain")
expect(settings["GANNET_REDIS_PASSWORD_FILE"] == worker["volumeMounts"][0]["mountPath"] + "/redis-password", "the password is mounted elsewhere")
labels = deployment["template"]["metadata"]["labels"]
expect(found["Service", "gannet-worker"]["spec"]["selector"] == labels, "the service selects other pods")
for kind in ["Deployment", "PodDisruptionBudget", "PodMonitor"]:
    expect(found[kind, "gannet-worker"]["spec"]["selector"]["matchLabels"] == labels, f"{kind} selects other pods")
for trigger in found["ScaledObject", "gannet-worker"]["spec"]["triggers"]:
    asked = trigger["metadata"]
    expect('{queue="' + settings["GANNET_QUEUE"] + '"}' in asked["valueLocation"], "a trigger looks at another queue")
    port = found["Service", "gannet-worker"]["spec"]["ports"][0]["port"]
    expect(asked["url"] == f"http://gannet-worker.NAMESPACE.svc:{port}/metrics", "a trigger asks at another address")

for problem in problems:
    print(f"kubernetes.yaml: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
