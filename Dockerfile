# Gannet in a container: `docker build -t gannet .`, or by docker-compose.yml.
#
# No cache mounts and no heredocs: the builder of Debian's docker.io and docker-compose 1.29 reads it too.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libhiredis-dev libcurl4-openssl-dev libssl-dev libc-ares-dev libmicrohttpd-dev \
        zlib1g-dev libbrotli-dev libzstd-dev libunistring-dev libarchive-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /gannet
COPY Package.swift ./
COPY Sources ./Sources
# Without tests and measurements, which the build context leaves out.
RUN GANNET_PRODUCTS_ONLY=yes swift build -c release --product gannet --static-swift-stdlib -Xlinker --strip-all \
    && install -D .build/release/gannet /out/usr/bin/gannet \
    && swift --version 2>&1 | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' >/swift-version

FROM debian:bookworm-slim AS image
RUN apt-get update \
    && apt-get install -y --no-install-recommends libhiredis0.14 libcurl4 libssl3 libc-ares2 libmicrohttpd12 zlib1g libbrotli1 libzstd1 \
        libunistring2 libarchive13 libstdc++6 ca-certificates tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/debconf/* /var/log/apt /var/log/dpkg.log \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin gannet \
    && install -d -o gannet -g gannet /data /window
COPY --from=build /out /
COPY LICENSE Docs/LICENCES.md /usr/share/doc/gannet/

# The image itself lists what is in it, as SPDX.
FROM image AS sbom
COPY --from=build /swift-version /
COPY Scripts/sbom /
RUN /sbom "$(cat /swift-version)" /usr/bin/gannet >/sbom.spdx.json

FROM image
COPY --from=sbom /sbom.spdx.json /usr/share/doc/gannet/
# A number, so that an orchestrator sees that it is not root.
USER 10001:10001
# For `work --store /data`: mount a volume here. /window is for a gateway's favourites.
WORKDIR /data
# Nobody looks for data that a Redis inside the container would have: without an address, commands end with 64.
ENV GANNET_LISTEN=:9464 \
    GANNET_NO_PRIVATE_REDIS=true
EXPOSE 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=10s --start-period=10s CMD ["gannet", "health"]
ENTRYPOINT ["tini", "--", "gannet"]
CMD ["work"]
LABEL org.opencontainers.image.title="gannet" \
    org.opencontainers.image.description="Fetches lists of URLs with a fleet of workers, each URL once" \
    org.opencontainers.image.licenses="Apache-2.0"
