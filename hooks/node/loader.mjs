// The part of the hook that Node runs for imported files.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { framework } = createRequire(import.meta.url)("./targets.cjs");

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  // What is imported but no module of its own kind is compiled as if required.
  if (!url.startsWith("file:") || loaded.format !== "module" || !loaded.source) return loaded;
  const target = framework(fileURLToPath(url));
  if (!target) return loaded;
  // Node may preload in the thread of the loaders too, which registers this one again.
  const source = String(Buffer.from(loaded.source));
  return source.endsWith(target.imported) ? loaded : { ...loaded, source: source + target.imported };
}
