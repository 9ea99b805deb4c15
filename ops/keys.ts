/** `npm run keys`: issues, lists, rotates and revokes API keys. */
import { run } from './command-line.ts';
import { keysProgram } from './key-commands.ts';

await run(keysProgram());
