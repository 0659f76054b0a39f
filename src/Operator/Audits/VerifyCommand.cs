using System.CommandLine;
using System.Globalization;
using Billing.Auditing.Chains;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Audits;

/// <summary><c>verify</c>: recomputes the hashes that chain the events of each account.</summary>
internal static class VerifyCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var heads = Flags.Text(
            "--heads",
            "File, kept where nobody who can write to the databases can reach it, with how each account ended when it "
                + "was verified before; it is checked, and brought up to date if nothing is found",
            "FILE");
        var command = new Command(
            "verify",
            "Recomputes the hashes that chain the events of each account, and names the first event that was altered, "
                + "removed or put in.")
        {
            heads, postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var databases = await StackInBackground.DatabasesAsync(parsed.GetValue(postgres));
            using var kept = parsed.GetValue(heads) is { } file ? Open(file) : null;
            var verifier = new ChainVerifier([.. databases.Values]);
            var result = await AuditBars.ShowAsync(console, progress =>
            {
                verifier.Progress = progress;
                return verifier.RunAsync(kept, cancellationToken);
            });
            Print(console, result, kept);
            if (result.Broken.Count > 0)
            {
                return 1;
            }
            kept?.Replace();
            return 0;
        });
    }

    private static AccountHeads Open(string file)
    {
        try
        {
            return AccountHeads.Open(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException)
        {
            throw new CommandException($"--heads: {e.Message}", e);
        }
    }

    private static void Print(IAnsiConsole console, ChainResult result, AccountHeads? heads)
    {
        console.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"Verified {result.Events:N0} events of {result.Accounts:N0} accounts."));
        if (heads is not null)
        {
            console.WriteLine(
                string.Create(CultureInfo.InvariantCulture, $"{heads.Known:N0} accounts were verified before."));
        }
        foreach (var finding in result.Broken)
        {
            console.WriteLine(finding);
        }
        if (result.Broken.Count > 0)
        {
            console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{result.Broken.Count:N0} accounts are not as the platform has recorded them."));
        }
    }
}
