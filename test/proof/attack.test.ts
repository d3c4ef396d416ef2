import { short } from "./short.ts";

short("attack", "nobody gets out of the roots, or stops the server, by any tool");
