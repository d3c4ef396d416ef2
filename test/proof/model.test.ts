// Real servers and a model of them, on the same random programs.
import { short } from "./short.ts";

short(
  "model",
  "random programs on several servers give what the model gives, answer by answer and byte by byte",
);
