// Makes a PNG smaller without changing a pixel: no alpha where there is none, each kind of row filter tried, and zlib at
// its best. Browsers write screenshots quickly, not small.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** For images of 8 bits per channel, in colour, not interlaced. */
export function smallerPng(png) {
  const chunks = [...chunksIn(png)];
  const header = chunks[0].data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = header[9] === 6 ? 4 : 3;
  if (header[8] !== 8 || (header[9] !== 6 && header[9] !== 2) || header[12] !== 0)
    throw new Error("not an image of 8 bits per channel, in colour");
  const packed = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
  const pixels = withoutAlpha(unfiltered(inflateSync(packed), width * channels, channels), channels);
  const stride = width * 3;
  const made = [0, 1, 2, 3, 4].map(filter =>
    deflateSync(filtered(pixels, stride, height, filter), { level: 9, memLevel: 9 }),
  );
  const best = made.reduce((least, one) => (one.length < least.length ? one : least));
  const head = Buffer.from(header);
  head[9] = 2;
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", best), chunk("IEND", Buffer.alloc(0))]);
}

function* chunksIn(png) {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

function predicted(filter, left, up, corner) {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter === 0) return 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function unfiltered(raw, stride, step) {
  const height = raw.length / (stride + 1);
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < step ? 0 : out[at - step];
      const up = y === 0 ? 0 : out[at - stride];
      const corner = x < step || y === 0 ? 0 : out[at - stride - step];
      out[at] = raw[y * (stride + 1) + 1 + x] + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function filtered(pixels, stride, height, filter) {
  const out = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    out[y * (stride + 1)] = filter;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < 3 ? 0 : pixels[at - 3];
      const up = y === 0 ? 0 : pixels[at - stride];
      const corner = x < 3 || y === 0 ? 0 : pixels[at - stride - 3];
      out[y * (stride + 1) + 1 + x] = pixels[at] - predicted(filter, left, up, corner);
    }
  }
  return out;
}

function withoutAlpha(pixels, channels) {
  if (channels === 3) return pixels;
  const out = Buffer.alloc((pixels.length / 4) * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    if (pixels[from + 3] !== 255) throw new Error("the image has transparent pixels");
    pixels.copy(out, to, from, from + 3);
  }
  return out;
}
