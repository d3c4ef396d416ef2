// A zip archive from files in memory: what an MCPB bundle is. Times are left out, so the same files give the same bytes.
import { crc32, deflateRawSync } from "node:zlib";

/** Each file is `{ name, bytes, executable }`, its name with `/`. */
export function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, bytes, executable = false } of files) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const path = Buffer.from(name);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0); // needs version 2.0
    about.writeUInt16LE(0x0800, 2); // names are UTF-8
    about.writeUInt16LE(8, 4); // deflate
    about.writeUInt16LE(0x21, 8); // 1980-01-01, the first day that zip knows
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), about, path, packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(((executable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
    entry.writeUInt32LE(offset, 10);
    const made = Buffer.from([20, 3]); // by version 2.0, on Unix
    directory.push(Buffer.from("PK\x01\x02", "latin1"), made, about, entry, path);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
