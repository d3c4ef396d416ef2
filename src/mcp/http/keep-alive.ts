// A client or a proxy that hears nothing for a while takes the server for dead. Streams say something this often;
// an answer that takes longer becomes a stream.
export const defaultKeepAliveMs = 15_000;
