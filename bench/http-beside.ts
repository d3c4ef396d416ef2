// HTTP beside a server on the plain SDK: the same clients call both in turns. Told for each: calls a second, times, the
// processor time of the server for a call, and its memory.
// `npm run bench:http-beside -- [clients] [calls] [rounds]`
import { loadavg } from "node:os";
import { type CallKind, HttpService, quantile, type Round } from "./http-service.ts";
import { median } from "./processor-time.ts";

const [clients = 200, calls = 4000, rounds = 3] = process.argv.slice(2).map(Number);
const each: Readonly<Record<CallKind, number>> = {
  read: Math.ceil(calls / clients),
  edit: Math.ceil(calls / clients / 5),
};
const service = new HttpService(clients);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

const measured = new Map(
  service.servers.map(server => [server, { read: [] as Round[], edit: [] as Round[] }]),
);
for (const server of service.servers) {
  await server.open();
  service.reset(server);
}
for (let round = 0; round < rounds; round++)
  for (const [server, known] of measured) {
    known.read.push(await server.round("read", each.read));
    known.edit.push(await server.round("edit", each.edit));
    service.reset(server);
  }

console.log(`${clients} clients, ${rounds} rounds of ${calls} reads, load ${loadavg()[0]?.toFixed(1)}`);
console.log("| | | calls a second | median ms | 99th ms | processor time µs a call | memory MiB |");
console.log("|---|---|---:|---:|---:|---:|---:|");
for (const [{ name, resident }, known] of measured)
  for (const [kind, all] of Object.entries(known)) {
    const times = all.flatMap(round => round.times);
    const perSecond = median(all.map(round => round.perSecond));
    const micros = median(all.map(round => round.micros));
    console.log(
      `| ${name} | ${kind} | ${perSecond.toFixed(0)} | ${quantile(times, 0.5).toFixed(1)} | ${quantile(times, 0.99).toFixed(1)} | ${micros.toFixed(0)} | ${resident.toFixed(0)} |`,
    );
  }
process.exit(service.servers.some(({ failed }) => failed > 0) ? 1 : 0);
