export type ServiceErrorCode =
  | "ExecutionAlreadyExists"
  | "ExecutionDoesNotExist"
  | "InvalidArn"
  | "InvalidDefinition"
  | "InvalidExecutionInput"
  | "InvalidName"
  | "InvalidOutput"
  | "InvalidToken"
  | "StateMachineAlreadyExists"
  | "StateMachineDoesNotExist"
  | "StateMachineTypeNotSupported"
  | "TaskDoesNotExist"
  | "TaskTimedOut"
  | "UnknownOperationException"
  | "ValidationException";

/** A refusal in the service's own words: `code` is the exception class that the SDK raises. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
