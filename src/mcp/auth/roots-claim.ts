// The directories that a token's claim names: paths, or paths with their access. A claim that cannot be read is an
// error and grants nothing; it is never taken for none.
import type { Grant } from "../../engine/workspace/grant.ts";
import { isRecord } from "../jsonrpc.ts";

export function rootsClaimed(claim: unknown): Grant[] {
  const list = Array.isArray(claim) ? claim : [claim];
  if (list.length === 0 || list.length > 100) throw new Error("the claim names no directories, or too many");
  return list.map(one => {
    if (typeof one === "string") return { path: one, access: "read-write" };
    const { path, access = "read-write" } = isRecord(one) ? one : {};
    if (typeof path !== "string" || (access !== "read-only" && access !== "read-write"))
      throw new Error("the claim is not a list of paths");
    return { path, access };
  });
}
