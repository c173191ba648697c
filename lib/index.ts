export type {
  ActionHandler,
  AgentDefinition,
  AgentLimits,
  PersistenceContext,
} from './agents/agent-definition.ts';
export type { AgentRef } from './agents/agent-ref.ts';
export { dumpAgent, loadAgent } from './agents/callbacks.ts';
export { defineAgent, InvalidDefinitionError } from './agents/define-agent.ts';
export type { RetentionPolicy } from './agents/retention-policy.ts';
export type { Clock } from './clock.ts';
export { type DynamoDbStoreOptions, dynamoDbStore } from './dynamodb/dynamodb-store.ts';
export { DormouseError } from './errors.ts';
export { fileStore } from './persistence/file-store.ts';
export { type ForgetOptions, type ForgetResult, forget } from './persistence/forget.ts';
export {
  type Hibernated,
  type HibernateOptions,
  type HibernateResult,
  hibernate,
  type PersistenceFailure,
} from './persistence/hibernate.ts';
export { memoryStore } from './persistence/memory-store.ts';
export type { PersistenceConfig } from './persistence/persistence-config.ts';
export * from './persistence/persistence-error.ts';
export type * from './persistence/snapshot-store.ts';
export { type KeyConfig, makeStoreKey } from './persistence/store-key.ts';
export type { StoreOptions } from './persistence/store-options.ts';
export { type Thawed, type ThawResult, thaw } from './persistence/thaw.ts';
export { describeSchedule } from './schedules/describe-schedule.ts';
export { InvalidScheduleError, type ScheduleField } from './schedules/invalid-schedule-error.ts';
export { nextFireTimes } from './schedules/next-fire-times.ts';
export { type ScheduleDescriptor, scheduleDescriptor } from './schedules/schedule-descriptor.ts';
export { type EventBridgeSchedule, toEventBridge } from './schedules/to-event-bridge.ts';
