using System.CommandLine;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Credentials;

/// <summary><c>./billing credentials</c>: creates the certificates, keys and passwords of a
/// deployment with Compose.</summary>
internal static class CredentialsCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var folder = new Option<string>("--folder")
        {
            Description = "Folder for the files; it is made private",
            HelpName = "FOLDER",
            DefaultValueFactory = _ => "deploy/containers/credentials",
        };
        var names = new Option<string[]>("--name")
        {
            Description =
                "Name or address by which callers reach the proxies, besides localhost; may be given more than once",
            HelpName = "NAME",
        };
        var days = Flags.Number("--days", "Lifetime of the certificates, in days", 365, 1, 3650);
        var command = new Command(
            "credentials",
            "Creates the credentials of a deployment with Compose: "
                + "new certificates, and the key of tokens and the passwords that are missing.")
                {
                    names, days, folder,
                };
        return command.Does((parsed, _) =>
        {
            var path = parsed.GetRequiredValue(folder);
            var callers = parsed.GetValue(names) ?? [];
            if (Array.Find(callers, name => Uri.CheckHostName(name) == UriHostNameType.Unknown) is { } wrong)
            {
                throw new CommandException($"--name: '{wrong}' is neither a name nor an address.");
            }
            DeploymentCredentials.CreateIn(
                path, callers, TimeSpan.FromDays(parsed.GetValue(days)), TimeProvider.System);
            console.WriteLine(
                $"{path} has the credentials. Callers need {Path.Combine(path, "ca.pem")}, and a token of `./billing "
                + $"token --credentials {path}`.");
            return Task.FromResult(0);
        });
    }
}
