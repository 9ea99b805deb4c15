/** `npm run reset`: empties the local store. */
import { emptyLocalStore } from './local-store.ts';

await emptyLocalStore();
console.log('The local store is empty.');
