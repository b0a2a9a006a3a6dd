# rolecall in an image that holds Debian, Node.js and the program, and nothing else: no npm and no git.
#
#   docker build --tag rolecall .
#   docker run --rm --read-only --env ROLECALL_API_KEY --volume "$PWD:/work" rolecall plan
ARG NODE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
ARG DEBIAN=debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171

FROM ${NODE} AS node

# Built once for all platforms: the program is the same on each.
FROM --platform=${BUILDPLATFORM} ${NODE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The image holds what the package holds, without its pages and examples.
RUN npm run build \
  && npm pack --ignore-scripts --silent \
  && mkdir -p /out/usr/local/bin /out/usr/local/lib/rolecall /work \
  && tar -xzf rolecall-*.tgz --strip-components=1 -C /out/usr/local/lib/rolecall --no-same-owner \
    package/dist package/schemas package/package.json package/LICENSE \
  && ln -s ../lib/rolecall/dist/bin.js /out/usr/local/bin/rolecall

# Nothing runs in this stage, so that it can be built for another platform without emulation.
FROM ${DEBIAN}
LABEL org.opencontainers.image.title="rolecall" \
  org.opencontainers.image.description="Access as code for merchant accounts" \
  org.opencontainers.image.licenses="Apache-2.0"
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY --from=build /out/ /
# Only journals and outputs are written, all below this folder: mount it, or what is in it.
COPY --from=build --chown=65532:65532 /work /work
WORKDIR /work
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
# Without a shell between, rolecall gets the signals: at SIGTERM it finishes what is in flight, and records it.
ENTRYPOINT ["rolecall"]
CMD ["--help"]
