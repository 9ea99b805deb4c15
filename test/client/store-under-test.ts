/** The store for the suite of the client, and its control. */
import { EMPTY } from '../server.ts';
import { type Store, startStore } from '../store.ts';
import type { Control } from './context.ts';

export function startControlledStore(): { store: Store; control: Control } {
  const store = startStore({ faults: true });
  const sql = async (statements: string) => {
    const { DB } = await store.bindings();
    await DB.batch(statements.split(';').map((statement) => DB.prepare(statement)));
  };
  const control: Control = {
    sql,
    async reset() {
      const { DB } = await store.bindings();
      await DB.exec(EMPTY);
    },
    fault: (faults) => store.fault(faults),
    issueKey: (record) => store.issueKey(record),
  };
  return { store, control };
}
