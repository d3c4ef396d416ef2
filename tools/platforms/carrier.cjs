// Runs in Windows Node under Wine, which cannot hand a Unix pipe to a Windows program: starts a server with pipes of
// Windows, and carries them over a local connection. The server dies with the connection.
const { connect } = require("node:net");
const { spawn } = require("node:child_process");

const [port, ...args] = process.argv.slice(2);
const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true }, () => {
  const server = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
  socket.pipe(server.stdin);
  server.stdout.pipe(socket);
  server.stdin.on("error", () => {});
  server.on("exit", () => setTimeout(() => process.exit(0), 50));
  socket.on("close", () => server.kill("SIGKILL"));
});
socket.on("error", () => process.exit(1));
