import { expect, it } from "vitest";
import { shownAddress, storeIdentity } from "../../src/engine/store/open-store.ts";

it("an address is shown without its password, wherever that is", () => {
  const cases = {
    "postgres://polyfs:secret@db/polyfs": "postgres://polyfs@db/polyfs",
    "postgres://polyfs:se@cr@et@db:5432/polyfs?sslmode=require":
      "postgres://polyfs@db:5432/polyfs?sslmode=require",
    "postgresql://polyfs:se:cret@db/polyfs": "postgresql://polyfs@db/polyfs",
    "postgres://polyfs@db/polyfs?password=secret&sslmode=require":
      "postgres://polyfs@db/polyfs?password=…&sslmode=require",
    "postgres:///polyfs?host=/run/postgresql&user=polyfs&password=secret":
      "postgres:///polyfs?host=/run/postgresql&user=polyfs&password=…",
    "postgres://polyfs@db/polyfs": "postgres://polyfs@db/polyfs",
    "s3://bucket/prefix?endpoint=https://s3.example.org:9000":
      "s3://bucket/prefix?endpoint=https://s3.example.org:9000",
    "/srv/store:1/a@b": "/srv/store:1/a@b",
  };
  for (const [address, shown] of Object.entries(cases)) expect(shownAddress(address)).toBe(shown);
});

it("a store has the same identity whatever the password, and in every version: directories are named after it", () => {
  const cases = {
    "postgres://polyfs:secret@db/polyfs": "postgres://polyfs@db/polyfs",
    "postgres://polyfs:se@cr@et@db:5432/polyfs?sslmode=require":
      "postgres://polyfs@db:5432/polyfs?sslmode=require",
    "postgres://polyfs@db/polyfs?password=secret&sslmode=require":
      "postgres://polyfs@db/polyfs?sslmode=require",
    "s3://bucket/prefix": "s3://bucket/prefix",
    "/srv/store:1/a@b": "/srv/store:1/a@b",
  };
  for (const [address, identity] of Object.entries(cases)) expect(storeIdentity(address)).toBe(identity);
});
