import { createRequire } from 'node:module';
import type { DynaliteStore } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import { messageOf } from '../../lib/message-of.ts';

/** How a request to DynamoDB was answered. */
interface DynamoDbAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** @param target `DynamoDB_20120810.GetItem` */
export type DynamoDb = (target: string, body: string) => Promise<DynamoDbAnswer>;

type Action = (
  store: DynaliteStore,
  input: unknown,
  callback: (error: unknown, output?: unknown) => void,
) => void;
interface Operation {
  readonly action: Action;
  readonly validation: { readonly types: unknown; readonly custom: unknown };
}
type Refusal = { readonly statusCode: number; readonly body: unknown };

const require = createRequire(import.meta.url);

const names = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DescribeTable',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
];

/** Loaded now: a process that has no file descriptors left can load nothing any more. */
const operations = new Map<string, Operation>(
  names.map((name) => {
    const path = validations.toLowerFirst(name);
    const action: Action = require(`dynalite/actions/${path}`);
    return [name, { action, validation: require(`dynalite/validations/${path}`) }];
  }),
);

/**
 * Answers requests over a store by dynalite's operations, in this process. dynalite's own server is not used: it would
 * stand open to every web page and every user of the machine, and throws what its database fails with.
 */
export function dynamoDbOver(store: DynaliteStore): DynamoDb {
  return async (target, body) => {
    const operation = operations.get(target.split('.')[1] ?? '');
    if (operation === undefined) return refusal(400, 'UnknownOperationException', `there is no ${target}`);
    try {
      const output = await perform(store, operation, JSON.parse(body));
      return { statusCode: 200, body: JSON.stringify(output) };
    } catch (error) {
      const { statusCode, body: refused } = error as Partial<Refusal>;
      if (statusCode !== undefined) return { statusCode, body: JSON.stringify(refused) };
      return refusal(500, 'InternalServerError', messageOf(error));
    }
  };
}

function perform(store: DynaliteStore, { action, validation }: Operation, given: unknown): Promise<unknown> {
  const { types, custom } = validation;
  const input = validations.checkTypes(given, types);
  validations.checkValidations(input, types, custom, store);
  return new Promise((resolve, reject) => {
    action(store, input, (error, output) => (error ? reject(error) : resolve(output)));
  });
}

function refusal(statusCode: number, type: string, message: string): DynamoDbAnswer {
  return {
    statusCode,
    body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }),
  };
}

interface SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Hands the requests of a client to `dynamoDb`, in place of a connection. */
export function requestHandlerOver(dynamoDb: DynamoDb) {
  return {
    async handle({ headers, body = '' }: SentRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
      abortSignal?.throwIfAborted();
      const answer = await dynamoDb(headers['x-amz-target'] ?? '', textOf(body));
      return {
        response: {
          statusCode: answer.statusCode,
          headers: { 'content-type': 'application/x-amz-json-1.0' },
          body: Buffer.from(answer.body),
        },
      };
    },
  };
}

/** The SDK warns of a body of bytes that is asked for anything of a string, its value included. */
function textOf(body: string | Uint8Array): string {
  return typeof body === 'string'
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}
