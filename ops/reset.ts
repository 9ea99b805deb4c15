/** `npm run reset`: empties the local store. */
import { emptyLocalStore } from './local-store.ts';

// Whoever asks for help, or for another store, is not to lose this one.
if (process.argv.length > 2) {
  console.error(
    'usage: npm run reset   (it takes no arguments: all of the local store is emptied)',
  );
  process.exit(2);
}
await emptyLocalStore();
console.log('The local store is empty.');
