"""Checks what docker-compose.yml and the files beside it say of Prometheus and Grafana: no image of Grafana can be made from Debian's packages."""

import json
import pathlib
import re
import sys

import yaml

root = pathlib.Path(__file__).parent / "../.."
services = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]
watch = {name: service for name, service in services.items() if service.get("profiles") == ["watch"]}
problems = []


def expect(is_so, problem):
    if not is_so:
        problems.append(problem)


expect(sorted(watch) == ["grafana", "prometheus"], f"the profile has {', '.join(watch)}")
ports, mounts = {}, {}
for name, service in watch.items():
    expect(re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", service["image"]), f"the image {service['image']} has no exact version")
    for port in service["ports"]:
        published = re.fullmatch(r"\$\{[A-Z]+_ADDRESS:-127\.0\.0\.1:\d+\}:(\d+)", port)
        expect(published, f"{name} is published as {port}, and not for this machine alone")
        ports[name] = published and published[1]
    for volume in service["volumes"]:
        source, target = volume.split(":")[:2]
        if source.startswith("."):
            mounts[target] = root / source
            expect((root / source).is_file(), f"{name} mounts {source}, which is no file")
            expect(volume.endswith(":ro"), f"{name} may write to {source}")

provisioning = {path: file for path, file in mounts.items() if path.startswith("/etc/grafana/provisioning/")}
sources = [source for path, file in provisioning.items() if "/datasources/" in path for source in yaml.safe_load(file.read_text())["datasources"]]
expect([source["url"] for source in sources] == [f"http://prometheus:{ports['prometheus']}"], f"the sources of figures are {sources}")
expect([source["isDefault"] for source in sources] == [True], "the dashboard takes the default source, and there is none")
providers = [provider for path, file in provisioning.items() if "/dashboards/" in path for provider in yaml.safe_load(file.read_text())["providers"]]
folders = [provider["options"]["path"] for provider in providers]
dashboards = [path for path in mounts if str(pathlib.PurePath(path).parent) in folders]
expect(len(dashboards) == 1 and json.loads(mounts[dashboards[0]].read_text())["uid"] == "gannet-fleet", f"the dashboards are {dashboards}")
settings = watch["grafana"]["environment"]
expect([settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]] == dashboards, "the first page is not the dashboard")
for name, value in {
    "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
    "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
    "GF_AUTH_BASIC_ENABLED": "false",
    "GF_USERS_ALLOW_SIGN_UP": "false",
}.items():
    expect(settings.get(name) == value, f"{name} is {settings.get(name)}: somebody might sign in with a usual password")
for job in yaml.safe_load((root / "Docs/prometheus-compose.yaml").read_text())["scrape_configs"]:
    for lookup in job["dns_sd_configs"]:
        for name in lookup["names"]:
            expect(name in services, f"Prometheus looks for {name}, which is no service")

for problem in problems:
    print(f"docker-compose.yml: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
