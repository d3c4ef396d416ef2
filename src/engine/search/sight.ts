// How a search sees the tree from its start: the rules from above, what ripgrep can be told of them, and the way back
// to the files that it names.
import type { Directory } from "../workspace/directory.ts";
import { type Standpoint, standpoint } from "./above.ts";
import { everything, type IgnorePolicy, IgnoreRules } from "./ignore.ts";
import { Trail } from "./trail.ts";

export interface Sight {
  readonly above: Standpoint;
  /** Whether a rule from above may take back in what one further down leaves out: then ripgrep is told of none. */
  readonly narrowed: boolean;
  /** Opens what ripgrep names, if our own rules let it in. */
  trail(): Trail;
}

export function sightOf(start: Directory, policy: IgnorePolicy): Sight {
  const above = standpoint(start, policy);
  const { prefix, rules } = above;
  const decidesAgain = prefix !== "" && !rules.isEmpty;
  return {
    above,
    narrowed: decidesAgain && rules.overridesBelow,
    trail: () => new Trail(start, prefix, decidesAgain ? rules : IgnoreRules.of(everything)),
  };
}
