// What a browser makes of the addresses in tests/data/web_addresses.json: `node tools/read_addresses.mjs` writes, into
// each row, `href` and `host` as `new URL()` reads its `spelling`, or null where it refuses. `refused` and `shown` are
// Lumina's own and are left as they are.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../tests/data/web_addresses.json", import.meta.url);
const ascii = (text) => text.replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

function read(spelling) {
  try {
    const url = new URL(spelling);
    return { href: url.href, host: url.hostname };
  } catch {
    return { href: null, host: null };
  }
}

const rows = JSON.parse(readFileSync(file, "utf8")).map(({ spelling, refused, shown }) => {
  const row = { spelling, ...read(spelling) };
  if (refused !== undefined) row.refused = refused;
  if (shown !== undefined) row.shown = shown;
  return "  " + ascii(JSON.stringify(row));
});
writeFileSync(file, "[\n" + rows.join(",\n") + "\n]\n");
