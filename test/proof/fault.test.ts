import { short } from "./short.ts";

short("fault", "whatever breaks under the server, files are wholly before or wholly after");
