using System.CommandLine;
using Billing.Auditing;
using Billing.Backends.EventStore.Shards;
using Billing.Hosting;
using Grpc.Core;
using Npgsql;

namespace Billing.Operator.Arguments;

/// <summary>How every command ends.</summary>
internal static class Guarded
{
    /// <summary>Sets what a command does, and returns it.</summary>
    public static Command Does(this Command command, Func<ParseResult, CancellationToken, Task<int>> action)
    {
        command.SetAction((parsed, cancellationToken) => RunAsync(() => action(parsed, cancellationToken)));
        return command;
    }

    /// <summary>Asks the databases of <c>--postgres</c>; an error of theirs names that flag.</summary>
    /// <exception cref="CommandException">A database failed, or it is not one that the
    /// question can be asked.</exception>
    public static async Task<T> AskingPostgresAsync<T>(Func<Task<T>> question)
    {
        try
        {
            return await question();
        }
        catch (Exception e) when (e is StoreCopyException or NpgsqlException)
        {
            throw new CommandException($"--postgres: {e.Message}", e);
        }
    }

    /// <summary>Runs a command; errors that the user can correct are printed as one line on standard error.</summary>
    public static async Task<int> RunAsync(Func<Task<int>> action)
    {
        try
        {
            return await action();
        }
        catch (Exception e)
            when (e is CommandException or AuditException or StartupException or Confluent.Kafka.KafkaException
                or NpgsqlException or FormatException or IOException or UnauthorizedAccessException)
        {
            await Console.Error.WriteLineAsync(e.Message);
            return 1;
        }
        catch (RpcException e)
        {
            await Console.Error.WriteLineAsync(
                $"A call that the command depends on failed: {e.Status.StatusCode}: {e.Status.Detail}");
            return 1;
        }
        catch (OperationCanceledException)
        {
            await Console.Error.WriteLineAsync("Stopped.");
            return 130;
        }
    }
}
