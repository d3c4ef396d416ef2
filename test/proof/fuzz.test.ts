// What is sent to servers and parsers by mistake, by malice, or by chance.
import { short } from "./short.ts";

short(
  "fuzz",
  "no line, request, patch or file stops a server, hides an answer, or gets one out of its protocol",
);
