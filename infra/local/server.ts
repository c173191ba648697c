import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import agentDefinitions from '#agents';
import type { Services } from '../../functions/services.ts';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../lib/agents/define-agent.ts';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from './embedded-dynamodb.ts';
import { serve } from './gateway.ts';

export interface LocalServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** The folder to keep state in; without it, in memory. */
  readonly data?: string | undefined;
  /** In place of functions/agents.ts. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly quiet?: boolean | undefined;
}

export interface LocalServer {
  readonly url: string;
  /** The client through which the handlers reach the embedded DynamoDB. */
  readonly dynamoDb: DynamoDBClient;
  /** Requests under way are answered first. Closing again waits for the same end. */
  close(): Promise<void>;
}

/** A request that hangs does not keep the server from ending. */
const closingMaxMs = 10_000;

/**
 * Serves the HTTP API on 127.0.0.1 with the handlers of functions/ over an embedded DynamoDB.
 *
 * @example
 * const server = await startLocalServer({ port: 0, quiet: true });
 * await fetch(`${server.url}/v1/agents`);
 * await server.close();
 */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { port, data, agents = agentDefinitions, quiet = false } = options;
  logAs(quiet);
  const definitions = indexAgents(agents);
  const database = await openEmbeddedDynamoDb(data);
  const services = createLocalServices(definitions, database);

  let closed: Promise<void> | undefined;
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (closed !== undefined) server.closeIdleConnections();
    });
    if (request.method === 'GET' && request.url === '/_local/health') {
      response.setHeader('content-type', 'application/json').end('{"status":"ok"}');
      return;
    }
    if (!quiet) logWhenAnswered(request, response);
    void serve(request, response, services);
  });
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dynamoDb: database.client,
    close: () => {
      closed ??= closeServer(server).then(() => database.close());
      return closed;
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  const giveUp = setTimeout(() => server.closeAllConnections(), closingMaxMs);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(giveUp);
}

function createLocalServices(
  agents: ReadonlyMap<string, AgentDefinition>,
  { client, tableName }: EmbeddedDynamoDb,
): Services {
  return {
    agents,
    strictAgents: false,
    tenantClaim: undefined,
    store: dynamoDbStore({ client, tableName: tableName(snapshotsTable) }),
    stores: dynamoDbStores({
      client,
      sessionsTable: tableName(sessionsTable),
      errorsTable: tableName(errorsTable),
    }),
  };
}

/** The handlers' own log lines only where something is wrong: one line per request says the rest. */
function logAs(quiet: boolean): void {
  process.env.POWERTOOLS_LOG_LEVEL ??= quiet ? 'SILENT' : 'ERROR';
  process.env.POWERTOOLS_METRICS_DISABLED ??= 'true';
}

function logWhenAnswered({ method, url }: IncomingMessage, response: ServerResponse): void {
  const startedAt = performance.now();
  response.on('close', () => {
    const ms = Math.round(performance.now() - startedAt);
    console.log(`${method} ${url} ${response.writableFinished ? response.statusCode : 'aborted'} ${ms} ms`);
  });
}
