/** Prints how a command is used, and exits: with 0 if `--help` asked for it, with 2 after the invalid arguments of `error`. */
export function exitWithUsage(usage: string, error?: string): never {
  const isAsked = process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h');
  if (error && !isAsked) console.error(`error: ${error}`);
  (isAsked ? process.stdout : process.stderr).write(`${usage}\n`);
  process.exit(isAsked ? 0 : 2);
}
