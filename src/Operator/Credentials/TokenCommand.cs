using System.CommandLine;
using Billing.Messaging.Requests;
using Billing.Operator.Arguments;
using Billing.Proxy.Security;

namespace Billing.Operator.Credentials;

/// <summary><c>./billing token</c>: issues a token for the stack in the background, or for a deployment.</summary>
internal static class TokenCommand
{
    public static Command Create()
    {
        var scopes = new Option<string[]>("--scope")
        {
            Description = "Scope of the token; may be given more than once",
            HelpName = string.Join('|', Scopes.All),
            Required = true,
        };
        scopes.AcceptOnlyFromAmong([.. Scopes.All]);
        var accounts = new Option<string[]>("--account")
        {
            Description =
                "Account that the token gives access to; * on either side stands for all; may be given more than once",
            HelpName = "NETWORK/ID",
            Required = true,
        };
        accounts.Validators.Add(given =>
        {
            foreach (var wrong in given.Tokens.Where(token => !AccountGrants.IsValid(token.Value)))
            {
                given.AddError($"--account must be {AccountGrants.Form}; it is {wrong.Value}");
            }
        });
        var subject = new Option<string>("--subject")
        {
            Description = "Subject of the token",
            HelpName = "NAME",
            DefaultValueFactory = _ => "developer",
        };
        var folder = Flags.Text(
            "--credentials",
            "Folder that ./billing credentials has filled; that of the stack in the background by default", "FOLDER");
        var minutes = Flags.Number("--minutes", "Lifetime of the token, in minutes", 60, 1, 30 * 24 * 60);
        var command = new Command(
            "token", "Issues a token for the stack that ./billing up --tls has started, or for a deployment.")
        {
            scopes, accounts, subject, minutes, folder,
        };
        return command.Does((parsed, _) => PrintAsync(
            parsed.GetRequiredValue(subject), parsed.GetRequiredValue(scopes), parsed.GetRequiredValue(accounts),
            TimeSpan.FromMinutes(parsed.GetValue(minutes)), parsed.GetValue(folder)));
    }

    // Written without console formatting, because scripts store it in a variable.
    private static async Task<int> PrintAsync(
        string subject, string[] scopes, string[] accounts, TimeSpan lifetime, string? folder)
    {
        var credentials = DeploymentCredentials.Find(folder ?? StackInBackground.Credentials)
            ?? throw new CommandException(folder is null
                ? "There is no stack that requires tokens; `./billing up --tls` starts one."
                : $"--credentials: {folder} has no key for tokens; `./billing credentials --folder "
                    + $"{folder}` makes one.");
        await Console.Out.WriteLineAsync(credentials.Token(subject, scopes, accounts, lifetime, TimeProvider.System));
        return 0;
    }
}
