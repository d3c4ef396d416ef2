# polyfs in a container: not root, and nothing in the image is written to. Build it with `npm run package:docker`.
#
#   docker run --rm -i --read-only --tmpfs /tmp --network none \
#     --user "$(id -u):$(id -g)" -v polyfs-state:/state -v "$PWD:/workspace" polyfs
#
# Options and other directories go behind the image's name; the container is the sandbox for commands
# (--allow-run=unsandboxed), because there is no other one inside of it.
FROM node:22-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --loglevel=error --no-audit --no-fund \
  && npm pack --loglevel=error --pack-destination /tmp \
  && npm install --global --prefix /opt/polyfs --loglevel=error --no-audit --no-fund /tmp/polyfs-*.tgz

FROM node:22-slim
COPY --from=build /opt/polyfs /opt/polyfs
# Whoever runs it makes a folder of their own in /state: the state must belong to them.
RUN mkdir -m 1777 /state && mkdir -m 755 /workspace
ENV PATH=/opt/polyfs/bin:$PATH \
    NODE_ENV=production \
    POLYFS_STATE_DIR=/state/polyfs
USER node
WORKDIR /workspace
VOLUME ["/state"]
ENTRYPOINT ["polyfs"]
CMD ["/workspace"]
