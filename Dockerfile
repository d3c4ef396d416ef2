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

# The program's compiled form, for quick starts where nothing can be kept: made by serving a client once.
RUN mkdir -m 755 /opt/polyfs/code \
  && (printf '%s\n' \
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"build","version":"1"}}}' \
      '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'; sleep 5) \
    | POLYFS_CODE_CACHE=/opt/polyfs/code POLYFS_STATE_DIR=/tmp/state /opt/polyfs/bin/polyfs /source > /dev/null

FROM node:22-slim
COPY --from=build /opt/polyfs /opt/polyfs
# Whoever runs it makes a folder of their own in /state: the state must belong to them.
RUN mkdir -m 1777 /state && mkdir -m 755 /workspace
ENV PATH=/opt/polyfs/bin:$PATH \
    NODE_ENV=production \
    POLYFS_CODE_CACHE=/opt/polyfs/code \
    POLYFS_STATE_DIR=/state/polyfs
USER node
WORKDIR /workspace
VOLUME ["/state"]
ENTRYPOINT ["polyfs"]
CMD ["/workspace"]
