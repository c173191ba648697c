import { dynamoDbMemoryStore } from '../lib/dynamodb/memory/store.ts';
import { dynamoDbCounters } from '../lib/dynamodb/sessions/counters.ts';
import { dynamoDbErrorLog } from '../lib/dynamodb/sessions/error-log.ts';
import { dynamoDbSessionStore } from '../lib/dynamodb/sessions/session-store.ts';
import { errorsTable, sessionsTable } from '../lib/dynamodb/tables.ts';
import type { RuntimeStores } from '../lib/runtime/create-runtime.ts';
import { once } from './once.ts';
import { dynamoDb, type Services, tableNameOf } from './services.ts';

/** Where sessions, memory and errors are: the host's, or this process's own. */
export function runtimeStores({ stores }: Services): RuntimeStores {
  return stores ?? ownStores();
}

const ownStores = once(createStores);

/** Each on first use: a function without access to a table has no name of it, and needs none. */
function createStores(): RuntimeStores {
  const sessionsName = () => tableNameOf(sessionsTable);
  const sessions = once(() => dynamoDbSessionStore(dynamoDb(), sessionsName()));
  const memory = once(() => dynamoDbMemoryStore({ client: dynamoDb(), tableName: sessionsName() }));
  const errors = once(() => dynamoDbErrorLog({ client: dynamoDb(), tableName: tableNameOf(errorsTable) }));
  const counters = once(() => dynamoDbCounters(dynamoDb(), sessionsName()));
  return {
    get sessions() {
      return sessions();
    },
    get memory() {
      return memory();
    },
    get errors() {
      return errors();
    },
    get counters() {
      return counters();
    },
  };
}
