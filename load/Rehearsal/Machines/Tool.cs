using System.Diagnostics;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>Runs a program of this machine until it ends.</summary>
/// <param name="name">Its name or path.</param>
/// <param name="before">Arguments before those of each run.</param>
internal sealed class Tool(string name, params string[] before)
{
    /// <summary>Runs the program.</summary>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="cancellationToken">Kills it.</param>
    /// <param name="input">Its standard input.</param>
    /// <returns>Its standard output.</returns>
    /// <exception cref="StackException">It failed; the message contains the last lines of its output.</exception>
    public async Task<string> RunAsync(IEnumerable<string> arguments, CancellationToken cancellationToken, string? input = null)
    {
        var (exitCode, output, errors) = await TryAsync(arguments, cancellationToken, input);
        return exitCode == 0
            ? output
            : throw new StackException($"{name} {string.Join(' ', before.Concat(arguments))} failed with exit code {exitCode}: {Last(errors.Length > 0 ? errors : output)}");
    }

    /// <summary>Runs the program and returns its exit code and output.</summary>
    public async Task<(int ExitCode, string Output, string Errors)> TryAsync(
        IEnumerable<string> arguments, CancellationToken cancellationToken, string? input = null)
    {
        using var process = Process.Start(new ProcessStartInfo(name, [.. before, .. arguments])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        }) ?? throw new StackException($"{name} did not start.");
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
            var errors = process.StandardError.ReadToEndAsync(cancellationToken);
            if (input is not null)
            {
                await process.StandardInput.WriteAsync(input.AsMemory(), cancellationToken);
            }
            process.StandardInput.Close();
            await process.WaitForExitAsync(cancellationToken);
            return (process.ExitCode, await output, await errors);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw;
        }
    }

    private static string Last(string text)
    {
        var lines = text.TrimEnd().Split('\n');
        return string.Join('\n', lines[Math.Max(0, lines.Length - 20)..]);
    }
}
