// A fake of npm, which records its calls in the folder where it runs. It goes on while there is a file `hold`, and then
// installs the packages. As npm, it does not end at a signal.
import { appendFileSync, cpSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

appendFileSync('calls', `${process.argv.slice(2).join(' ')}\n`);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
console.log('added 1 package');
while (existsSync('hold')) await setTimeout(20);
if (process.env.NPM_EXIT_CODE) {
  console.error('npm error code EUSAGE');
  process.exit(process.env.NPM_EXIT_CODE);
}
cpSync('registry', 'node_modules', { recursive: true });
