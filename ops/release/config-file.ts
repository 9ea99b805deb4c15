/** Writing ids into wrangler.toml as text, so that its comments and its order stay. */

/** A string's place: the header of its table, such as `[env.staging]`, and its name. */
export type Setting = { table: string; name: string; value: string };

const HEADER = /^\s*(\[{1,2}[^\]]+\]{1,2})/;
const STRING = /^(\s*([\w-]+)\s*=\s*)(?:"[^"\\]*"|'[^']*')/;

/**
 * The text of a TOML document with other strings in these places.
 *
 * @throws Error when a setting is not there exactly once, on a line of its own.
 */
export function editToml(text: string, settings: Setting[]): string {
  const written = new Map(settings.map((setting) => [setting, 0]));
  let table = '';
  const lines = text.split('\n').map((line) => {
    table = HEADER.exec(line)?.[1] ?? table;
    const [, start, name] = STRING.exec(line) ?? [];
    const setting = settings.find((each) => each.table === table && each.name === name);
    if (!setting) return line;
    written.set(setting, (written.get(setting) ?? 0) + 1);
    // Any string of JSON is one of TOML. A function, as `$` in a replacement text has a meaning.
    return line.replace(STRING, () => start + JSON.stringify(setting.value));
  });
  for (const [{ table, name }, times] of written) {
    if (times === 1) continue;
    const problem = times === 0 ? 'has no line' : `has ${times} lines`;
    throw new Error(`wrangler.toml: ${table} ${problem} with a text for ${name}`);
  }
  return lines.join('\n');
}
