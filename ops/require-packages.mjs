// The first step of a command (package.json): fails unless the packages are installed. Only `npm start`, `npm run dev` and `npm test`
// install them themselves.
import { fail, isInstalled, NEEDS_NODE, rejectProxy } from './packages.mjs';

rejectProxy();
if (NEEDS_NODE || !isInstalled()) fail('packages are missing or outdated. Run: npm run setup');
